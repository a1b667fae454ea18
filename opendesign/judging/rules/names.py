"""Names that the rules know."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Elements without content, to ``tag-pair``; ``tag-self-close`` knows one more.
VOID = _words(
    """
    area base basefont br col command embed frame hr img input isindex keygen link meta param source
    track wbr
    """
)
#: Names of SVG elements that are written with capitals.
SVG_TAGS = _words(
    """
    animateMotion animateTransform clipPath feBlend feColorMatrix feComponentTransfer feComposite
    feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA
    feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset
    fePointLight feSpecularLighting feSpotLight feTile feTurbulence foreignObject linearGradient
    radialGradient textPath
    """
)
#: Names of attributes that are written with capitals, in SVG above all.
SVG_ATTRIBUTES = _words(
    """
    allowReorder attributeName attributeType autoReverse baseFrequency baseProfile calcMode clipPath
    clipPathUnits contentScriptType contentStyleType diffuseConstant edgeMode externalResourcesRequired
    filterRes filterUnits glyphRef gradientTransform gradientUnits kernelMatrix kernelUnitLength
    keyPoints keySplines keyTimes lengthAdjust limitingConeAngle markerHeight markerUnits markerWidth
    maskContentUnits maskUnits numOctaves onBlur onChange onClick onFocus onKeyUp onLoad pathLength
    patternContentUnits patternTransform patternUnits pointsAtX pointsAtY pointsAtZ preserveAlpha
    preserveAspectRatio primitiveUnits refX refY repeatCount repeatDur requiredExtensions
    requiredFeatures specularConstant specularExponent spreadMethod startOffset stdDeviation stitchTiles
    surfaceScale systemLanguage tableValues targetX targetY textLength viewBox viewTarget
    xChannelSelector yChannelSelector zoomAndPan
    """
)
