import matplotlib.pyplot as plt
import seaborn as sns

sns.set_theme(style="whitegrid")
grid = sns.relplot(
    data=df,
    x="month",
    y="temperature_c",
    col="station",
    col_wrap=2,
    kind="line",
    marker="o",
    height=3,
    aspect=1.4,
)
grid.set_titles("{col_name}")
grid.set_axis_labels("Month", "Temperature (°C)")
plt.show()
