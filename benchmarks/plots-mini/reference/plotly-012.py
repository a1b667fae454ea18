import plotly.graph_objects as go
from plotly.subplots import make_subplots

figure = make_subplots(specs=[[{"secondary_y": True}]])
figure.add_trace(go.Bar(x=df["week"], y=df["orders"], name="Orders", marker_color="lightblue"))
figure.add_trace(
    go.Scatter(x=df["week"], y=df["conversion_percent"], name="Conversion", line_color="darkorange"),
    secondary_y=True,
)
figure.update_xaxes(title="Week")
figure.update_yaxes(title="Orders", secondary_y=False)
figure.update_yaxes(
    title="Conversion (%)", range=[0, 4], tickmode="linear", dtick=1, showgrid=False, secondary_y=True
)
figure.update_layout(
    title="Orders and conversion of a shop",
    legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"},
)
figure.show()
