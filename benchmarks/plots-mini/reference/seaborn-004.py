import matplotlib.pyplot as plt
import seaborn as sns

sns.set_theme(style="whitegrid")
order = df.groupby("mode")["minutes"].median().sort_values().index
ax = sns.boxplot(data=df, x="minutes", y="mode", order=order, color="lightsteelblue")
ax.set_title("Commuting time by mode")
ax.set_xlabel("Minutes")
ax.set_ylabel("")
plt.show()
