import matplotlib.pyplot as plt
import seaborn as sns

days = ["Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
table = df.pivot(index="weekday", columns="hour", values="visitors").loc[days]
fig, ax = plt.subplots(figsize=(8, 4.5))
sns.heatmap(table, annot=True, fmt="d", cmap="rocket_r", linewidths=0.5, linecolor="white", ax=ax)
ax.set_title("Visitors of a museum")
ax.set_xlabel("Hour")
ax.set_ylabel("")
ax.tick_params(axis="y", rotation=0)
plt.show()
