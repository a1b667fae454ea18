import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(9, 5))
bottom = 0
for column, name, colour in (
    ("hydro_gwh", "Hydro", "#3b6fb6"),
    ("wind_gwh", "Wind", "#7fb2d9"),
    ("solar_gwh", "Solar", "#f2c14e"),
    ("gas_gwh", "Gas", "#8d8d8d"),
):
    ax.bar(df["month"], df[column], bottom=bottom, label=name, color=colour)
    bottom = bottom + df[column]
ax.set_ylim(0, bottom.max() * 1.18)
ax.set_ylabel("Generation (GWh)")
ax.set_title("Electricity by source")
ax.tick_params(axis="x", rotation=90)
ax.legend(ncols=4, loc="upper center", frameon=False)
fig.tight_layout()
plt.show()
