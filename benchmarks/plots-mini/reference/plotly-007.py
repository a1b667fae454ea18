import plotly.express as px

figure = px.box(
    df,
    x="depot",
    y="minutes",
    color="day_type",
    points="outliers",
    category_orders={"depot": ["East", "North", "West"], "day_type": ["weekday", "weekend"]},
)
figure.update_layout(
    template="plotly_white",
    title="Delivery time by depot",
    xaxis_title="Depot",
    yaxis_title="Minutes",
    legend_title="Day",
)
figure.show()
