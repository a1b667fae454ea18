"""Small drawn pictures as ``data:`` URLs, so that pages have pictures and need no network."""

from __future__ import annotations

from urllib.parse import quote

from opendesign.answering.controls.palettes import Palette, mix
from opendesign.answering.controls.words import Seed


def picture(palette: Palette, seed: Seed, width: int = 640, height: int = 400) -> str:
    """Hills, a still life or waves in the palette's colours, ``width`` × ``height`` CSS pixels."""
    draw = seed.pick((_hills, _still_life, _waves))
    return _url(draw(palette, seed, width, height), width, height)


def mark(palette: Palette, seed: Seed) -> str:
    """A square mark of 40 × 40 CSS pixels for the head of a page."""
    first, second = palette.accent, palette.on_accent
    shapes = (
        f'<circle cx="20" cy="20" r="9" fill="{second}"/><path d="M18 11h4v18h-4z" fill="{first}"/>',
        f'<path d="M9 28 20 10 31 28z" fill="{second}"/><circle cx="20" cy="23" r="3" fill="{first}"/>',
        f'<path d="M10 12h20v5H10zM10 23h13v5H10z" fill="{second}"/>',
        f'<path d="M20 9a11 11 0 0 1 0 22z" fill="{second}"/><circle cx="15" cy="20" r="3" fill="{second}"/>',
    )
    return _url(f'<rect width="40" height="40" rx="10" fill="{first}"/>{seed.pick(shapes)}', 40, 40)


def portrait(palette: Palette, seed: Seed, width: int = 480, height: int = 320) -> str:
    """A head and shoulders, drawn in four flat shapes."""
    middle, unit = width // 2, height // 10
    skin = seed.pick(("#f1c9a5", "#d9a066", "#8d5a3b", "#c68642"))
    hair = seed.pick(("#2b211c", "#5a3825", "#7a3f1d", "#6d6d72"))
    coat, ground = seed.pick(palette.series), mix(seed.pick(palette.series), "#ffffff", 0.75)
    top = height * 45 // 100
    fall, neck, face = unit * seed.pick((0, 3)), unit * 7 // 10, unit * 9 // 5
    body = (
        f'<rect width="{width}" height="{height}" fill="{ground}"/>'
        f'<path d="M{middle - 2 * unit} {top}v{fall + unit}h{4 * unit}v{-fall - unit}z" fill="{hair}"/>'
        f'<circle cx="{middle}" cy="{top - unit // 2}" r="{2 * unit + unit // 4}" fill="{hair}"/>'
        f'<path d="M{middle - 4 * unit} {height}a{4 * unit} {3 * unit} 0 0 1 {8 * unit} 0z" fill="{coat}"/>'
        f'<path d="M{middle - neck} {top}h{2 * neck}v{3 * unit}h{-2 * neck}z" fill="{skin}"/>'
        f'<ellipse cx="{middle}" cy="{top + unit // 3}" rx="{unit * 8 // 5}" ry="{face}" fill="{skin}"/>'
    )
    return _url(body, width, height)


def _hills(palette: Palette, seed: Seed, width: int, height: int) -> str:
    sun = (
        f'<circle cx="{seed.between(width // 5, 4 * width // 5)}" cy="{height * 3 // 10}" r="{height // 8}" '
    )
    parts = [_sky(palette, width, height), f'{sun}fill="{mix(palette.series[1], "#ffffff", 0.45)}"/>']
    for layer in range(3):
        top = height * (48 + 15 * layer) // 100
        step = width // 4
        heights = [top + seed.between(-height // 12, height // 12) for _ in range(5)]
        path = f"M0 {height}V{heights[0]}"
        for index in range(1, 5):
            x, middle = index * step, index * step - step // 2
            path += f"C{middle} {heights[index - 1]} {middle} {heights[index]} {x} {heights[index]}"
        shade = mix(palette.accent, "#ffffff", 0.5 - 0.22 * layer)
        parts.append(f'<path d="{path}H{width}V{height}z" fill="{shade}"/>')
    return "".join(parts)


def _still_life(palette: Palette, seed: Seed, width: int, height: int) -> str:
    table = height * 72 // 100
    parts = [
        _sky(palette, width, height),
        f'<path d="M0 {table}h{width}v{height}H0z" fill="{mix(palette.accent, "#ffffff", 0.35)}"/>',
    ]
    unit = height // 5
    for index, colour in enumerate(seed.sample(palette.series, 3)):
        x = width * (26 + 24 * index) // 100 + seed.between(-width // 40, width // 40)
        size = unit * seed.between(90, 140) // 100
        tint = mix(colour, "#ffffff", 0.18)
        shape = seed.number(3)
        if shape == 0:
            parts.append(f'<circle cx="{x}" cy="{table - size + size // 4}" r="{size}" fill="{tint}"/>')
        elif shape == 1:
            top = table - 2 * size + size // 4
            arch = f"a{size} {size} 0 0 1 {2 * size} 0"
            path = f"M{x - size} {table + size // 4}V{top + size}{arch}V{table + size // 4}z"
            parts.append(f'<path d="{path}" fill="{tint}"/>')
        else:
            path = f"M{x - size} {table + size // 4}L{x} {table - 2 * size}L{x + size} {table + size // 4}z"
            parts.append(f'<path d="{path}" fill="{tint}"/>')
    return "".join(parts)


def _waves(palette: Palette, seed: Seed, width: int, height: int) -> str:
    parts = [_sky(palette, width, height)]
    bend, long, other = (
        seed.between(height // 12, height // 6),
        width // seed.between(2, 4),
        seed.between(1, 3),
    )
    for layer in range(5):
        y = height * (30 + 16 * layer) // 100
        left = -seed.number(2 * long)
        path = f"M{left} {y}q{long // 2} {-2 * bend} {long} 0" + f"t{long} 0" * (2 + (width - left) // long)
        colour = mix(palette.series[layer % 2 * other], "#ffffff", 0.6 - 0.1 * layer)
        parts.append(f'<path d="{path}V{height}H{left}z" fill="{colour}"/>')
    return "".join(parts)


def _sky(palette: Palette, width: int, height: int) -> str:
    return f'<rect width="{width}" height="{height}" fill="{mix(palette.accent, "#ffffff", 0.82)}"/>'


def _url(body: str, width: int, height: int) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return "data:image/svg+xml," + quote(
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{body}</svg>', safe="/:="
    )
