import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

sns.set_theme(style="whitegrid")
date, price = pd.to_datetime(df["date"]), df["price_eur"]
fig, ax = plt.subplots(figsize=(9, 5))
sns.lineplot(x=date, y=price, color="silver", linewidth=1, label="Daily", ax=ax)
average = price.rolling(14, center=True).mean()
sns.lineplot(x=date, y=average, color="darkred", linewidth=2.5, label="14-day average", ax=ax)
ax.xaxis.set_major_locator(mdates.MonthLocator())
ax.xaxis.set_major_formatter(mdates.DateFormatter("%b %Y"))
ax.set_title("Price of electricity")
ax.set_xlabel("")
ax.set_ylabel("Price (€/MWh)")
plt.show()
