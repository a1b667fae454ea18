"""The tables of ``plots-mini``, made up from fixed seeds; `python tools/plots_data.py FOLDER` writes them."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

OUT = Path(sys.argv[1])
OUT.mkdir(parents=True, exist_ok=True)


def rng(name):
    return np.random.default_rng(sum(map(ord, name)) * 7919 + len(name))


def save(name, **columns):
    frame = pd.DataFrame(columns)
    assert 20 <= len(frame) <= 300, (name, len(frame))
    frame.to_csv(OUT / f"{name}.csv", index=False, lineterminator="\n")


r = rng("river-levels")
day = np.arange(1, 61)
wave = 90 * np.exp(-(((day - 20) / 6.0) ** 2)) + 60 * np.exp(-(((day - 43) / 8.0) ** 2))


def lag(k):
    return np.interp(day - k, day, wave)


save(
    "river-levels",
    day=day,
    upper_cm=(142 + wave + r.normal(0, 4, 60)).round(1),
    middle_cm=(188 + 1.15 * lag(3) + r.normal(0, 4, 60)).round(1),
    lower_cm=(251 + 1.3 * lag(6) + r.normal(0, 5, 60)).round(1),
)

r = rng("power-mix")
months = pd.period_range("2023-01", periods=24, freq="M").astype(str)
t = np.arange(24)
save(
    "power-mix",
    month=months,
    wind_gwh=(310 + 95 * np.cos(2 * np.pi * t / 12) + r.normal(0, 22, 24)).round(),
    solar_gwh=(170 - 130 * np.cos(2 * np.pi * (t - 0.3) / 12) + r.normal(0, 9, 24)).round(),
    hydro_gwh=(120 + 30 * np.sin(2 * np.pi * (t - 1) / 12) + r.normal(0, 8, 24)).round(),
    gas_gwh=(260 + 60 * np.cos(2 * np.pi * t / 12) - 3 * t + r.normal(0, 18, 24)).round(),
)

r = rng("marathon")
minutes = np.clip(np.concatenate([r.normal(238, 26, 170), r.normal(204, 12, 70)]), 152, 329)
save("marathon", runner=np.arange(1, 241), minutes=minutes.round(1))

r = rng("household")
weights = {
    "Rent": (480, 0),
    "Groceries": (62, 14),
    "Transport": (45, 9),
    "Leisure": (52, 15),
    "Insurance": (95, 4),
    "Other": (41, 9),
}
rows = []
for month in range(1, 7):
    for name, count in (
        ("Rent", 1),
        ("Groceries", 5),
        ("Transport", 3),
        ("Leisure", 3),
        ("Insurance", 1),
        ("Other", 2),
    ):
        for _ in range(count):
            mean, sd = weights[name]
            rows.append(
                (f"2024-{month:02d}-{int(r.integers(1, 28)):02d}", name, round(max(4, r.normal(mean, sd)), 2))
            )
rows.sort()
save("household", date=[x[0] for x in rows], category=[x[1] for x in rows], amount_eur=[x[2] for x in rows])

r = rng("bike-rentals")
w = np.arange(1, 53)
season = np.clip(np.sin(np.pi * (w - 5) / 45), 0, None)
save(
    "bike-rentals",
    week=w,
    members=(2100 + 2600 * season + r.normal(0, 160, 52)).round().astype(int),
    day_passes=(350 + 1700 * season**2 + r.normal(0, 120, 52)).clip(80).round().astype(int),
    tourists=(120 + 1500 * season**4 + r.normal(0, 70, 52)).clip(20).round().astype(int),
)

r = rng("tomato-growth")
dose = np.repeat([0, 20, 40, 60, 80, 100], 10)
save(
    "tomato-growth",
    dose_mg=dose,
    plant=np.tile(np.arange(1, 11), 6),
    height_cm=(38 + 0.62 * dose - 0.0041 * dose**2 + r.normal(0, 1, 60) * (2.5 + dose / 22)).round(1),
)

r = rng("wind")
direction = np.concatenate([r.normal(245, 32, 130), r.normal(70, 25, 60), r.uniform(0, 360, 50)]) % 360
save(
    "wind", hour=np.arange(240), direction_deg=direction.round(), speed_ms=(r.weibull(2, 240) * 6.2).round(1)
)

r = rng("hill")
gx, gy = np.meshgrid(np.arange(0, 150, 10), np.arange(0, 150, 10))
h = (
    120
    + 45 * np.exp(-(((gx - 50) / 30) ** 2 + ((gy - 85) / 35) ** 2))
    + 28 * np.exp(-(((gx - 110) / 22) ** 2 + ((gy - 40) / 25) ** 2))
    + r.normal(0, 0.6, gx.shape)
)
save("hill", east_m=gx.ravel(), north_m=gy.ravel(), height_m=h.ravel().round(1))

r = rng("soil")
gx, gy = np.meshgrid(np.arange(0, 80, 5), np.arange(0, 60, 5))
m = 24 + 11 * np.sin(gx / 17) * np.cos(gy / 21) + 0.09 * gy + r.normal(0, 0.35, gx.shape)
save("soil", x_m=gx.ravel(), y_m=gy.ravel(), moisture_percent=m.ravel().round(1))

r = rng("climate")
t = np.arange(24)
save(
    "climate",
    month=months,
    rain_mm=(62 + 24 * np.sin(2 * np.pi * (t - 4) / 12) + r.gamma(2, 9, 24)).round(),
    temperature_c=(9.6 - 9.4 * np.cos(2 * np.pi * (t - 0.6) / 12) + r.normal(0, 0.8, 24)).round(1),
)

r = rng("brains")
groups = ["Rodents", "Carnivores", "Primates", "Ungulates"]
lo = {"Rodents": (-1.9, 0.6), "Carnivores": (0.0, 2.2), "Primates": (-0.6, 1.9), "Ungulates": (1.2, 2.9)}
shift = {"Rodents": 0.78, "Carnivores": 1.0, "Primates": 1.38, "Ungulates": 0.92}
rows = []
for g in groups:
    for x in r.uniform(*lo[g], 14):
        rows.append(
            (g, float(f"{10**x:.3g}"), float(f"{10 ** (shift[g] + 0.72 * x + r.normal(0, 0.11)):.3g}"))
        )
save("brains", group=[x[0] for x in rows], body_kg=[x[1] for x in rows], brain_g=[x[2] for x in rows])

r = rng("reservoir")
d = pd.date_range("2024-03-01", periods=150, freq="D")
t = np.arange(150)
level = 61 + 17 * np.sin(2 * np.pi * (t + 8) / 170) - 0.06 * t + np.cumsum(r.normal(0, 0.35, 150))
save("reservoir", date=d.strftime("%Y-%m-%d"), fill_percent=level.round(1))

# seaborn
r = rng("coffee")
days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
level = dict(zip(days, (41, 44, 47, 49, 58, 72, 55), strict=False))
rows = [
    (week, day, drink, int(r.poisson(level[day] * share)))
    for week in range(1, 9)
    for day in days
    for drink, share in (("Espresso", 0.5), ("Filter", 0.3), ("Tea", 0.2))
]
save(
    "coffee",
    week=[x[0] for x in rows],
    weekday=[x[1] for x in rows],
    drink=[x[2] for x in rows],
    cups=[x[3] for x in rows],
)

r = rng("harvest")
base = {"Wheat": 6.8, "Barley": 5.9, "Maize": 9.4, "Rye": 4.7}
effect = {"North": 0.5, "Centre": 0.0, "South": -0.9}
rows = [
    (year, crop, region, round(b + e + r.normal(0, 0.35), 2))
    for year in range(2019, 2025)
    for crop, b in base.items()
    for region, e in effect.items()
]
save(
    "harvest",
    year=[x[0] for x in rows],
    crop=[x[1] for x in rows],
    region=[x[2] for x in rows],
    tonnes_per_ha=[x[3] for x in rows],
)

r = rng("leaves")
save(
    "leaves",
    species=["Beech"] * 110 + ["Hornbeam"] * 90,
    length_mm=np.concatenate([r.normal(68, 9, 110), r.normal(89, 11, 90)]).round(1),
)

r = rng("commute")
modes = {"Bicycle": (22, 6), "Bus": (38, 9), "Car": (29, 12), "Train": (51, 11), "Walk": (17, 5)}
rows = [
    (mode, round(float(abs(r.normal(m, s))) + 3 + (22 * (r.random() < 0.05)), 1))
    for mode, (m, s) in modes.items()
    for _ in range(36)
]
r.shuffle(rows)
save("commute", mode=[x[0] for x in rows], minutes=[float(x[1]) for x in rows])

r = rng("exam")
rows = []
for subject, m in (("Maths", 61), ("Physics", 57), ("English", 68)):
    for group, plus in (("control", 0), ("tutored", 7)):
        for s in np.clip(r.normal(m + plus, 12 if group == "control" else 9, 36), 5, 99):
            rows.append((subject, group, round(s)))
save("exam", subject=[x[0] for x in rows], group=[x[1] for x in rows], score=[x[2] for x in rows])

r = rng("flats")
price = {"Old Town": 19.5, "Harbour": 17.0, "Hillside": 14.2, "Station": 12.1}
rows = []
for district, p in price.items():
    for _ in range(28):
        rooms = int(r.integers(1, 6))
        area = rooms * r.normal(23, 3) + 12
        rows.append((district, rooms, round(area, 1), int(round(area * p * r.normal(0.95, 0.07) + 90, -1))))
save(
    "flats",
    district=[x[0] for x in rows],
    rooms=[x[1] for x in rows],
    area_m2=[x[2] for x in rows],
    rent_eur=[x[3] for x in rows],
)

r = rng("museum")
rows = []
for i, day in enumerate(["Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]):
    for hour in range(10, 18):
        m = (45 + 18 * i) * np.exp(-(((hour - 13.5 - 0.2 * i) / 2.6) ** 2)) + 8
        rows.append((day, hour, int(r.poisson(m))))
save("museum", weekday=[x[0] for x in rows], hour=[x[1] for x in rows], visitors=[x[2] for x in rows])

r = rng("stations")
rows = []
for station, mean, amp in (
    ("Coast", 10.4, 6.1),
    ("Plain", 9.7, 10.2),
    ("Valley", 8.1, 11.6),
    ("Summit", 0.9, 8.4),
):
    for month in range(1, 13):
        rows.append(
            (station, month, round(mean - amp * np.cos(2 * np.pi * (month - 1.4) / 12) + r.normal(0, 0.6), 1))
        )
save("stations", station=[x[0] for x in rows], month=[x[1] for x in rows], temperature_c=[x[2] for x in rows])

r = rng("power-price")
d = pd.date_range("2024-01-01", periods=200, freq="D")
t = np.arange(200)
save(
    "power-price",
    date=d.strftime("%Y-%m-%d"),
    price_eur=(
        78
        + 14 * np.sin(t / 31)
        - 9 * (d.day_of_week >= 5)
        + np.cumsum(r.normal(0, 1.1, 200))
        + r.normal(0, 4, 200)
    ).round(2),
)

r = rng("reaction")
rows = []
for group, slope in (("rested", 3.1), ("short sleep", 6.4)):
    for hours in (2, 6, 10, 14, 18):
        for v in r.normal(262 + slope * hours + (18 if group != "rested" else 0), 17, 12):
            rows.append((group, hours, round(v)))
save(
    "reaction", group=[x[0] for x in rows], hours_awake=[x[1] for x in rows], reaction_ms=[x[2] for x in rows]
)

r = rng("sessions")
rows = []
for platform, start, growth in (("Android", 41, 1.022), ("iOS", 36, 1.031), ("Web", 58, 0.988)):
    for week in range(1, 27):
        rows.append((platform, week, round(start * growth**week + r.normal(0, 1.6), 1)))
save(
    "sessions",
    platform=[x[0] for x in rows],
    week=[x[1] for x in rows],
    sessions_thousand=[x[2] for x in rows],
)

r = rng("geyser")
short = r.random(160) < 0.38
length = np.where(short, r.normal(2.0, 0.28, 160), r.normal(4.3, 0.4, 160)).clip(1.2)
save(
    "geyser", eruption_min=length.round(2), waiting_min=(33 + 10.6 * length + r.normal(0, 4.6, 160)).round(1)
)

# plotly
r = rng("exchange")
d = pd.date_range("2024-01-01", periods=182, freq="D")
save("exchange", date=d.strftime("%Y-%m-%d"), rate=(1.084 + np.cumsum(r.normal(0, 0.0031, 182))).round(4))

r = rng("city-trees")
names = [
    "Lime",
    "Maple",
    "Oak",
    "Plane",
    "Birch",
    "Ash",
    "Hornbeam",
    "Chestnut",
    "Robinia",
    "Cherry",
    "Elm",
    "Beech",
    "Poplar",
    "Willow",
    "Pine",
    "Hazel",
    "Ginkgo",
    "Rowan",
    "Alder",
    "Larch",
    "Walnut",
    "Yew",
    "Spruce",
    "Cedar",
]
counts = (15200 * np.arange(1, 25) ** -0.85 * r.normal(1, 0.06, 24)).round().astype(int)
order = r.permutation(24)
save(
    "city-trees",
    species=np.array(names)[order],
    trees=counts[order],
    planted_last_year=(counts * r.uniform(0.005, 0.04, 24)).round().astype(int)[order],
)

r = rng("exports")
start = {"Machines": 41, "Chemicals": 28, "Food": 17, "Textiles": 9}
rows = [
    (
        year,
        product,
        round(v * (1.03 if product != "Textiles" else 0.96) ** (year - 2019) + r.normal(0, 1.1), 1),
    )
    for year in range(2019, 2025)
    for product, v in start.items()
]
save("exports", year=[x[0] for x in rows], product=[x[1] for x in rows], billion_eur=[x[2] for x in rows])

r = rng("companies")
rows = []
for sector, m in (("Software", 0.19), ("Retail", 0.11), ("Logistics", 0.08)):
    for i in range(18):
        staff = int(np.exp(r.uniform(3, 6.6)))
        rows.append(
            (
                f"{sector[:3].upper()}-{i + 1:02d}",
                sector,
                staff,
                round(staff * m * float(np.exp(r.normal(0, 0.3))), 1),
                int(r.integers(2, 34)),
            )
        )
save(
    "companies",
    company=[x[0] for x in rows],
    sector=[x[1] for x in rows],
    employees=[x[2] for x in rows],
    revenue_meur=[x[3] for x in rows],
    age_years=[x[4] for x in rows],
)

r = rng("greenhouse")
n = 120
sun = r.gamma(3, 90, n)
temp = 14 + 0.028 * sun + r.normal(0, 1.8, n)
hum = 92 - 1.5 * temp + r.normal(0, 3.5, n)
save(
    "greenhouse",
    light_wm2=sun.round(),
    temperature_c=temp.round(1),
    humidity_percent=hum.round(1),
    co2_ppm=(690 - 0.42 * sun + r.normal(0, 45, n)).round(),
    watering_l=(1.5 + 0.11 * temp + r.normal(0, 0.45, n)).round(2),
)

r = rng("tickets")
topics = r.choice(["Login", "Billing", "Delivery", "Returns", "Other"], 150, p=[0.31, 0.24, 0.2, 0.15, 0.1])
save("tickets", ticket=np.arange(4001, 4151), topic=topics, minutes_to_close=r.gamma(2.2, 38, 150).round())

r = rng("parcels")
rows = []
for depot, m in (("East", 46), ("North", 39), ("West", 55)):
    for day, plus in (("weekday", 0), ("weekend", 9)):
        for v in r.gamma(9, (m + plus) / 9, 28):
            rows.append((depot, day, round(v, 1)))
save("parcels", depot=[x[0] for x in rows], day_type=[x[1] for x in rows], minutes=[x[2] for x in rows])

r = rng("media-hours")
t = np.arange(36)
m3 = pd.date_range("2022-01-01", periods=36, freq="MS").strftime("%Y-%m-%d")
save(
    "media-hours",
    month=m3,
    video=(52 + 1.5 * t + r.normal(0, 3, 36)).round(1),
    audio=(31 + 0.5 * t + 4 * np.sin(t / 2) + r.normal(0, 1.5, 36)).round(1),
    text=(44 - 0.55 * t + r.normal(0, 1.6, 36)).round(1),
)

r = rng("athletes")
tests = ["Sprint", "Endurance", "Strength", "Jump", "Agility", "Balance", "Reaction", "Flexibility"]
base = {
    "Ada": [88, 54, 61, 83, 79, 60, 85, 58],
    "Ben": [52, 91, 58, 49, 57, 72, 61, 66],
    "Caro": [63, 60, 90, 68, 55, 81, 52, 77],
}
rows = [
    (who, test, int(v + r.integers(-3, 4)))
    for who, values in base.items()
    for test, v in zip(tests, values, strict=False)
]
save("athletes", athlete=[x[0] for x in rows], test=[x[1] for x in rows], points=[x[2] for x in rows])

r = rng("reactor")
gt, gp = np.meshgrid(np.arange(150, 291, 10), np.arange(1, 15))
y = 92 * np.exp(-(((gt - 228) / 58) ** 2)) * (1 - np.exp(-gp / 3.8)) + r.normal(0, 0.5, gt.shape)
save("reactor", temperature_c=gt.ravel(), pressure_bar=gp.ravel(), yield_percent=y.ravel().round(1))

r = rng("air")
h = np.arange(48)
occupied = ((h % 24 > 7) & (h % 24 < 18)).astype(float)
smooth = np.convolve(np.r_[np.zeros(3), occupied], np.ones(4) / 4, "valid")[:48]
save(
    "air",
    hour=h,
    temperature_c=(19.2 + 3.1 * smooth + r.normal(0, 0.2, 48)).round(1),
    humidity_percent=(41 + 9 * smooth + r.normal(0, 1.0, 48)).round(1),
    co2_ppm=(430 + 620 * smooth + r.normal(0, 20, 48)).round(),
    noise_db=(31 + 22 * occupied + r.normal(0, 2.2, 48)).round(1),
)

r = rng("web-shop")
w = np.arange(1, 41)
save(
    "web-shop",
    week=w,
    orders=(820 + 9 * w + 260 * np.exp(-(((w - 30) / 3.0) ** 2)) + r.normal(0, 45, 40)).round().astype(int),
    conversion_percent=(2.4 + 0.5 * np.sin(w / 6) + 0.012 * w + r.normal(0, 0.07, 40)).round(2),
)
