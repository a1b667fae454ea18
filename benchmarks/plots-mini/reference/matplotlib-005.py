import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(8, 5))
ax.stackplot(
    df["week"],
    df["members"],
    df["day_passes"],
    df["tourists"],
    labels=["Members", "Day passes", "Tourists"],
    colors=["#2a6f97", "#61a5c2", "#f4a259"],
)
ax.set_title("Bike rentals in a year")
ax.set_xlabel("Week")
ax.set_ylabel("Rentals")
ax.set_xlim(1, 52)
ax.set_ylim(bottom=0)
ax.legend(loc="upper left")
plt.show()
