import matplotlib.pyplot as plt

fig, ax = plt.subplots()
ax.hist(df["minutes"], bins=range(150, 331, 10), color="steelblue", edgecolor="white")
ax.axvline(df["minutes"].median(), color="crimson", linestyle="--", linewidth=2, label="Median")
ax.set_title("Finishing times of a marathon")
ax.set_xlabel("Minutes")
ax.set_ylabel("Runners")
ax.legend()
plt.show()
