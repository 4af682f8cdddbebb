// Before the page's scripts are here: the theme that was chosen in this browser (app/theme.ts), and no frame at the door.
(({ dataset }, theme) => {
  if (theme !== null) dataset.theme = theme;
  if (location.pathname.startsWith("/sign-in")) dataset.door = "";
})(document.documentElement, localStorage.getItem("toryo.theme"));
