import plotly.express as px

top = df.nlargest(10, "trees").sort_values("trees")
figure = px.bar(top, x="trees", y="species", orientation="h", text="trees")
figure.update_traces(marker_color="seagreen", textposition="outside", cliponaxis=False)
figure.update_layout(
    template="plotly_white",
    title="The ten most common street trees",
    xaxis_title="Trees",
    yaxis_title=None,
)
figure.show()
