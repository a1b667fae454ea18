import matplotlib.pyplot as plt
import seaborn as sns

sns.set_theme(style="darkgrid")
fig, ax = plt.subplots(figsize=(8, 5))
sns.lineplot(data=df, x="week", y="sessions_thousand", hue="platform", style="platform", markers=True, ax=ax)
ax.set_title("Sessions by platform")
ax.set_xlabel("Week")
ax.set_ylabel("Sessions (thousand)")
ax.legend(title="Platform")
plt.show()
