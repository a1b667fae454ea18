import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(8, 5))
for column, name in (("upper_cm", "Upper"), ("middle_cm", "Middle"), ("lower_cm", "Lower")):
    ax.plot(df["day"], df[column], label=name, linewidth=2)
ax.set_title("Water level at three gauges")
ax.set_xlabel("Day")
ax.set_ylabel("Level (cm)")
ax.grid(color="0.88")
ax.legend(loc="upper right")
plt.show()
