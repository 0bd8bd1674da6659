// What scrolls can be reached with the keyboard, and each copy button's bar has a name of its own.
function name() {
  document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code").forEach((box, number) => {
    if (box.tabIndex === 0) return;
    box.tabIndex = 0;
    if (!box.closest("pre")) box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${box.closest("pre") ? "code" : "table"} ${number + 1}`);
  });
  document.querySelectorAll(".md-code__nav").forEach((bar, number) => bar.setAttribute("aria-label", `code ${number + 1}`));
  document.querySelectorAll(".md-nav[aria-label]").forEach((nav, number) => {
    if (!nav.dataset.number) nav.setAttribute("aria-label", `${nav.getAttribute("aria-label")}, ${(nav.dataset.number = number + 1)}`);
  });
}
new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
name();
