import matplotlib.pyplot as plt
import numpy as np

width = 360 / 16
sector = np.floor((df["direction_deg"] + width / 2) % 360 / width).astype(int)
hours = sector.value_counts().reindex(range(16), fill_value=0).sort_index()
fig, ax = plt.subplots(figsize=(6, 6), subplot_kw={"projection": "polar"})
ax.set_theta_zero_location("N")
ax.set_theta_direction(-1)
ax.bar(np.deg2rad(hours.index * width), hours, width=np.deg2rad(width), color="teal", edgecolor="white")
ax.set_xticks(np.deg2rad(range(0, 360, 45)), ["N", "NE", "E", "SE", "S", "SW", "W", "NW"])
ax.set_title("Hours of wind by direction", pad=16)
plt.show()
