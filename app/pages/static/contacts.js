// What scripts add to tables of contacts and to what is done with many: everything works without them.

/** Say how many boxes are marked, and let one box mark all and a click with Shift mark those between. */
function prepareMarks() {
  const all = document.querySelector("[data-marks-all]");
  const boxes = [...document.querySelectorAll('input[name="contact"][type="checkbox"]')];
  const figure = document.querySelector("[data-marked]");
  if (!(all && figure && boxes.length)) {
    return;
  }
  let last;
  const show = () => {
    const marked = boxes.filter((box) => box.checked).length;
    figure.textContent = marked ? `${marked} marked` : "";
    all.checked = marked === boxes.length;
    all.indeterminate = marked > 0 && marked < boxes.length;
  };
  all.closest("label").hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) {
      box.checked = all.checked;
    }
    show();
  });
  for (const box of boxes) {
    box.addEventListener("click", (event) => {
      if (event.shiftKey && last) {
        const [first, end] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
        for (const between of boxes.slice(first, end + 1)) {
          between.checked = box.checked;
        }
      }
      last = box;
      show();
    });
  }
  addEventListener("pageshow", show); // marks that the browser kept on the way back
  show();
}

/** Send the form that continues what takes longer than one request. */
function continueRounds() {
  document.querySelector("form[data-continue]")?.requestSubmit();
}

prepareMarks();
continueRounds();
