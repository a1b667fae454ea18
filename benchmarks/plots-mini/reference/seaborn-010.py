import matplotlib.pyplot as plt
import seaborn as sns

sns.set_theme(style="whitegrid")
ax = sns.pointplot(
    data=df,
    x="hours_awake",
    y="reaction_ms",
    hue="group",
    errorbar="sd",
    dodge=0.2,
    capsize=0.1,
    linewidth=1.5,
)
ax.set_title("Reaction time and hours awake")
ax.set_xlabel("Hours awake")
ax.set_ylabel("Reaction time (ms)")
ax.legend(title="Group")
plt.show()
