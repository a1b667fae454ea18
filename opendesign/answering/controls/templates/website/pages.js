const pages = document.querySelectorAll("[data-page]");
const links = document.querySelectorAll("[data-go]");

function go(name) {
  for (const page of pages) page.hidden = page.dataset.page !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.go === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  window.scrollTo(0, 0);
}

function listenForPages() {
  for (const link of links) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      go(link.dataset.go);
    });
  }
}
