import pandas as pd
import plotly.graph_objects as go

date = pd.to_datetime(df["date"])
figure = go.Figure()
figure.add_scatter(x=date, y=df["rate"], mode="lines", name="Rate")
figure.add_scatter(
    x=date, y=df["rate"].rolling(30).mean(), mode="lines", name="30-day mean", line={"dash": "dash"}
)
figure.update_xaxes(dtick="M1", tickformat="%b %Y")
figure.update_layout(
    template="plotly_white", title="Exchange rate in half a year", yaxis_title="Dollars per euro"
)
figure.show()
