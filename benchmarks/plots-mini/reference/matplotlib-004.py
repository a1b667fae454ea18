import matplotlib.pyplot as plt

sums = df.groupby("category")["amount_eur"].sum().sort_values(ascending=False)
fig, ax = plt.subplots(figsize=(6, 6))
ax.pie(
    sums,
    labels=sums.index,
    autopct="%.1f%%",
    pctdistance=0.78,
    startangle=90,
    counterclock=False,
    explode=[0.06] + [0] * (len(sums) - 1),
    wedgeprops={"edgecolor": "white"},
)
ax.set_title("Spending of a household in six months")
plt.show()
