import plotly.graph_objects as go
from plotly.subplots import make_subplots

panels = {
    "temperature_c": "Temperature (°C)",
    "humidity_percent": "Humidity (%)",
    "co2_ppm": "CO2 (ppm)",
    "noise_db": "Noise (dB)",
}
figure = make_subplots(rows=2, cols=2, shared_xaxes=True, subplot_titles=list(panels.values()))
for place, column in enumerate(panels):
    figure.add_trace(
        go.Scatter(x=df["hour"], y=df[column], mode="lines"), row=place // 2 + 1, col=place % 2 + 1
    )
figure.update_xaxes(title="Hour", row=2)
figure.update_layout(title="Air of an office in two days", showlegend=False)
figure.show()
