import matplotlib.pyplot as plt
import seaborn as sns

fig, ax = plt.subplots(figsize=(8, 5))
sns.violinplot(
    data=df,
    x="subject",
    y="score",
    hue="group",
    hue_order=["control", "tutored"],
    split=True,
    inner="quart",
    palette="pastel",
    ax=ax,
)
ax.set_title("Exam scores with and without tutoring")
ax.set_xlabel("Subject")
ax.set_ylabel("Score")
ax.legend(title="Group")
plt.show()
