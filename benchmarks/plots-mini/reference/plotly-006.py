import plotly.express as px

counts = df["topic"].value_counts().reset_index()
figure = px.pie(counts, names="topic", values="count", hole=0.5)
figure.update_traces(textposition="outside", textinfo="label+percent")
figure.update_layout(title="Support tickets by topic", showlegend=False)
figure.show()
