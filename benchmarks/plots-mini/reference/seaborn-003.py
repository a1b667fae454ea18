import matplotlib.pyplot as plt
import seaborn as sns

sns.set_theme(style="ticks")
ax = sns.histplot(data=df, x="length_mm", hue="species", multiple="stack", binwidth=5, binrange=(40, 120))
ax.set_title("Length of leaves")
ax.set_xlabel("Length (mm)")
ax.set_ylabel("Leaves")
sns.despine()
plt.show()
