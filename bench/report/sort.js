"use strict";
// A click on a column's head orders the rows by it; what has no figure stays at the end.
document.querySelectorAll("tr.sort button").forEach((button) => button.addEventListener("click", () => {
  const head = button.parentElement, at = head.cellIndex, body = head.closest("table").tBodies[0];
  const up = head.getAttribute("aria-sort") !== "ascending";
  head.parentElement.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const value = (row) => {
    const cell = row.cells[at];
    if (!cell || cell.className === "instead") return null;
    if (cell.scope === "row" || cell.classList.contains("words")) return cell.textContent;
    return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
  };
  [...body.rows].map((row) => [value(row), row]).sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return (typeof a === "string" ? a.localeCompare(b) : a - b) * (up ? 1 : -1);
  }).forEach(([, row]) => body.append(row));
}));
