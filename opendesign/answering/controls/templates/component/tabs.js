const tabs = all("[role=tab]");
const current = () => tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");

function choose(place) {
  const wanted = (place + tabs.length) % tabs.length;
  tabs.forEach((tab, at) => {
    tab.setAttribute("aria-selected", String(at === wanted));
    tab.tabIndex = at === wanted ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = at !== wanted;
  });
  say(`Showing ${tabs[wanted].textContent}`);
}

function listen() {
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => choose(place));
    tab.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: place - 1, ArrowUp: place - 1, ArrowRight: place + 1, ArrowDown: place + 1, Home: 0, End: tabs.length - 1 };
      if (!(event.key in steps)) return;
      event.preventDefault();
      choose(steps[event.key]);
      tabs[current()].focus();
    });
  });
  byId("upright").addEventListener("change", (event) => byId("tabs").classList.toggle("upright", event.target.checked));
  for (const button of all("[data-step]")) {
    button.addEventListener("click", () => choose(current() + Number(button.dataset.step)));
  }
}
