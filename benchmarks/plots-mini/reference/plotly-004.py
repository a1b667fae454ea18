import plotly.express as px

figure = px.scatter(
    df,
    x="employees",
    y="revenue_meur",
    color="sector",
    size="age_years",
    size_max=30,
    log_x=True,
    log_y=True,
)
figure.update_layout(
    title="Companies by size and age",
    xaxis_title="Employees",
    yaxis_title="Revenue (million €)",
    legend_title="Sector",
)
figure.show()
