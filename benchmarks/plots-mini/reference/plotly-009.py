import plotly.graph_objects as go

figure = go.Figure()
for athlete, rows in df.groupby("athlete", sort=False):
    points, tests = rows["points"].tolist(), rows["test"].tolist()
    figure.add_scatterpolar(
        r=points + points[:1], theta=tests + tests[:1], fill="toself", opacity=0.6, name=athlete
    )
figure.update_layout(
    title="Three athletes in eight tests", polar={"radialaxis": {"range": [0, 100], "visible": True}}
)
figure.show()
