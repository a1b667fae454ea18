import matplotlib.pyplot as plt
import numpy as np

grid = df.pivot(index="north_m", columns="east_m", values="height_m")
east, north = np.meshgrid(grid.columns, grid.index)
fig, ax = plt.subplots(figsize=(8, 6), subplot_kw={"projection": "3d"})
surface = ax.plot_surface(east, north, grid.to_numpy(), cmap="terrain", rcount=15, ccount=15)
fig.colorbar(surface, ax=ax, shrink=0.65, pad=0.16, label="Height (m)")
ax.set_xlabel("East (m)")
ax.set_ylabel("North (m)")
ax.set_zlabel("Height (m)")
ax.set_title("Survey of a hill")
ax.view_init(elev=35, azim=-60)
plt.show()
