import matplotlib.pyplot as plt
import seaborn as sns

fig, ax = plt.subplots(figsize=(7, 5.5))
sns.kdeplot(data=df, x="eruption_min", y="waiting_min", fill=True, levels=8, cmap="Blues", ax=ax)
sns.scatterplot(data=df, x="eruption_min", y="waiting_min", color="darkorange", s=16, ax=ax)
ax.set_title("Eruptions of a geyser")
ax.set_xlabel("Length (min)")
ax.set_ylabel("Waiting time (min)")
plt.show()
