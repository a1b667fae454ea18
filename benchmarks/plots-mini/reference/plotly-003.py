import plotly.express as px

figure = px.bar(df, x="year", y="billion_eur", color="product", barmode="group")
figure.update_xaxes(title="Year", dtick=1)
figure.update_yaxes(title="Billion euros")
figure.update_layout(title="Exports by product", legend_title="Product")
figure.show()
