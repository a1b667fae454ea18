import matplotlib.pyplot as plt
import seaborn as sns

sns.set_theme(style="whitegrid")
order = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
ax = sns.barplot(data=df, x="weekday", y="cups", order=order, estimator="sum", errorbar=None, color="peru")
ax.set_title("Cups sold by weekday")
ax.set_xlabel("Weekday")
ax.set_ylabel("Cups")
plt.show()
