import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import pandas as pd

date, level = pd.to_datetime(df["date"]), df["fill_percent"]
fig, ax = plt.subplots(figsize=(9, 5))
ax.plot(date, level, color="navy")
for name, row, lift in (("highest", level.idxmax(), 10), ("lowest", level.idxmin(), -10)):
    ax.plot(date[row], level[row], "o", color="firebrick")
    ax.annotate(
        f"{name}: {level[row]}%",
        xy=(date[row], level[row]),
        xytext=(date[row], level[row] + lift),
        ha="center",
        va="center",
        arrowprops={"arrowstyle": "->"},
    )
ax.xaxis.set_major_locator(mdates.MonthLocator())
ax.xaxis.set_major_formatter(mdates.DateFormatter("%b"))
ax.set_ylim(0, 100)
ax.set_ylabel("Fill level (%)")
ax.set_title("Fill level of a reservoir")
plt.show()
