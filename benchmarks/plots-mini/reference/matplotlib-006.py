import matplotlib.pyplot as plt

heights = df.groupby("dose_mg")["height_cm"]
mean, deviation = heights.mean(), heights.std()
fig, ax = plt.subplots()
ax.errorbar(mean.index, mean, yerr=deviation, marker="o", capsize=5, color="seagreen")
ax.set_title("Height of tomato plants by dose")
ax.set_xlabel("Fertiliser (mg)")
ax.set_ylabel("Height (cm)")
ax.grid(axis="y", color="0.9")
plt.show()
