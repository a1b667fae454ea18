import matplotlib.pyplot as plt
import seaborn as sns

sns.set_theme(style="whitegrid")
ax = sns.barplot(data=df, x="crop", y="tonnes_per_ha", hue="region", errorbar=None, palette="Set2")
ax.set_title("Mean yield by crop and region")
ax.set_xlabel("Crop")
ax.set_ylabel("Tonnes per hectare")
ax.legend(title="Region")
plt.show()
