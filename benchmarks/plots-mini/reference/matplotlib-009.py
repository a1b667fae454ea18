import matplotlib.pyplot as plt

grid = df.pivot(index="y_m", columns="x_m", values="moisture_percent")
fig, ax = plt.subplots(figsize=(8, 5.5))
filled = ax.contourf(grid.columns, grid.index, grid, levels=10, cmap="YlGnBu")
ax.contour(filled, colors="black", linewidths=0.6)
fig.colorbar(filled, ax=ax, label="Moisture (%)")
ax.set_aspect("equal")
ax.set_title("Soil moisture of a field")
ax.set_xlabel("x (m)")
ax.set_ylabel("y (m)")
plt.show()
