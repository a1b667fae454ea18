import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 5.5))
for group, rows in df.groupby("group", sort=False):
    ax.scatter(rows["body_kg"], rows["brain_g"], label=group, alpha=0.8)
ax.set_xscale("log")
ax.set_yscale("log")
ax.set_title("Brain and body mass")
ax.set_xlabel("Body mass (kg)")
ax.set_ylabel("Brain mass (g)")
ax.grid(which="major", color="0.88", linewidth=0.7)
ax.set_axisbelow(True)
ax.legend(loc="upper left")
plt.show()
