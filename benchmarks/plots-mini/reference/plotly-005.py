import plotly.express as px

columns = ["light_wm2", "temperature_c", "humidity_percent", "co2_ppm", "watering_l"]
figure = px.imshow(
    df[columns].corr().round(2), text_auto=".2f", zmin=-1, zmax=1, color_continuous_scale="RdBu_r"
)
figure.update_layout(title="Correlations in a greenhouse")
figure.show()
