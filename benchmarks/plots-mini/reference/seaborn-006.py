import matplotlib.pyplot as plt
import seaborn as sns

sns.set_theme(style="whitegrid")
fig, ax = plt.subplots(figsize=(8, 5.5))
sns.scatterplot(data=df, x="area_m2", y="rent_eur", hue="district", size="rooms", sizes=(20, 160), ax=ax)
ax.set_title("Rents in four districts")
ax.set_xlabel("Area (m²)")
ax.set_ylabel("Rent (€)")
sns.move_legend(ax, "upper left", bbox_to_anchor=(1.01, 1))
fig.tight_layout()
plt.show()
