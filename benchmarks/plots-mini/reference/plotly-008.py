import plotly.graph_objects as go

figure = go.Figure()
for column, name in (("text", "Text"), ("audio", "Audio"), ("video", "Video")):
    figure.add_scatter(x=df["month"], y=df[column], name=name, mode="lines", stackgroup="hours")
figure.update_layout(title="Hours of media a month", yaxis_title="Hours (thousand)")
figure.show()
