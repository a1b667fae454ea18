import plotly.graph_objects as go

grid = df.pivot(index="pressure_bar", columns="temperature_c", values="yield_percent")
figure = go.Figure(go.Surface(x=grid.columns, y=grid.index, z=grid.to_numpy(), colorscale="Viridis"))
figure.update_layout(
    title="Yield of a reactor",
    margin={"l": 20, "r": 20, "b": 20, "t": 60},
    scene={
        "xaxis_title": "Temperature (°C)",
        "yaxis_title": "Pressure (bar)",
        "zaxis_title": "Yield (%)",
        "camera": {"eye": {"x": -1.6, "y": -1.6, "z": 0.9}},
    },
)
figure.show()
