"use strict";
// Before anything is drawn, so that no page flashes in the other theme.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch { /* storage is off: the system's theme stands */ }
