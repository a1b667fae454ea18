const wanted = {
  name: (value) => (value.length < 2 ? "Please enter your name." : ""),
  email: (value) => (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value) ? "" : "Please enter an address such as ana@example.org."),
};

function check(input) {
  const rule = wanted[input.name];
  const text = rule ? rule(input.value.trim()) : "";
  const place = document.getElementById(input.id + "-problem");
  if (place) place.textContent = text;
  input.setAttribute("aria-invalid", text ? "true" : "false");
  return text === "";
}

function listenForForm(form, done) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wrong = [...form.querySelectorAll("input")].filter((input) => !check(input));
    if (wrong.length) wrong[0].focus();
    else done(new FormData(form));
  });
}
