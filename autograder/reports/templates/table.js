"use strict";
// Sorts by the column whose button is pressed, numbers as numbers, and hides the rows that do not hold the text typed.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => {
    const text = row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
    return text === "" ? null : isNaN(text) ? text.toLocaleLowerCase() : Number(text);
  };
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].sort((first, second) => {
      const [a, b] = [value(first, column), value(second, column)];
      if (a === null || b === null) return (a === null) - (b === null);  // what is missing stays at the end
      const order = typeof a === typeof b ? (a > b) - (a < b) : typeof a === "number" ? -1 : 1;
      return down ? -order : order;
    });
    body.append(...rows);
  }));
  const filter = document.getElementById(table.dataset.filter);
  const shown = document.getElementById(table.dataset.shown);
  filter?.addEventListener("input", () => {
    const wanted = filter.value.toLocaleLowerCase();
    let count = 0;
    for (const row of body.rows) {
      row.hidden = !row.textContent.toLocaleLowerCase().includes(wanted);
      count += !row.hidden;
    }
    shown.textContent = `${count} of ${body.rows.length} shown`;
  });
}
