// A click (or Enter) on a column head sorts its table: numbers fall first, names rise first, undefined last.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const keyOf = (row, column) => row.cells[column].dataset.value;
  heads.forEach((head, column) => {
    const cell = body.rows[0]?.cells[column];
    const byNumber = column > 0 && !cell?.classList.contains("text");
    const first = byNumber ? "descending" : "ascending";
    const second = byNumber ? "ascending" : "descending";
    head.querySelector("button").addEventListener("click", () => {
      const direction = head.getAttribute("aria-sort") === first ? second : first;
      const sign = direction === "ascending" ? 1 : -1;
      const compare = (one, other) => {
        const a = keyOf(one, column), b = keyOf(other, column);
        if (a === "" || b === "") return (a === "") - (b === "");
        return sign * (byNumber ? a - b : a.localeCompare(b, "en", { numeric: true }));
      };
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction);
      body.append(...[...body.rows].sort(compare));
    });
  });
}
