// What scripts add to the pages: everything works without them.

const REFRESH_MS = 2000;
const RESEND_MS = 5000;
const COPIED_MS = 2000;

/** Show the buttons that copy a value, and let them do it. */
function prepareCopying(root) {
  for (const button of root.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      document.getElementById("announcements").textContent = "Copied";
      showIcon(button, "check");
      setTimeout(() => showIcon(button, "copy"), COPIED_MS);
    });
  }
}

/** Show another icon of the same file. */
function showIcon(button, name) {
  const use = button.querySelector("use");
  use?.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${name}`));
}

/** Show the buttons that mark all boxes of one name, or none if all are marked. */
function prepareMarking() {
  for (const button of document.querySelectorAll("[data-mark-all]")) {
    const boxes = [...document.getElementsByName(button.dataset.markAll)];
    button.hidden = false;
    button.addEventListener("click", () => {
      const isMarked = boxes.some((box) => !box.checked);
      for (const box of boxes) {
        box.checked = isMarked;
      }
    });
  }
}

/** Fill the field with what the chosen option proposes (`data-proposes`), until another value is written. */
function prepareProposal() {
  const field = document.getElementById("max_credits");
  let proposal = "";
  for (const option of document.querySelectorAll("[data-proposes]")) {
    const propose = () => {
      field.value = ["", proposal].includes(field.value) ? option.dataset.proposes : field.value;
      proposal = option.dataset.proposes;
    };
    option.addEventListener("change", propose);
    if (option.checked) {
      propose();
    }
  }
}

/** Prevent that a second click sends a form again. */
function preventSecondSubmission() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.sent) {
      event.preventDefault();
    }
    form.dataset.sent = "1";
    setTimeout(() => delete form.dataset.sent, RESEND_MS); // the answer may be a download, or never come
  });
}

/** Tell a screen reader once that the part of the page no longer changes, and with which result. */
function announce(current) {
  if (!("live" in current.dataset)) {
    const badge = current.querySelector("#receipt .badge") ?? current.querySelector(".badge");
    const result = badge?.textContent ?? "";
    document.getElementById("announcements").textContent = `Finished: ${result}`;
  }
}

/** Replace the part of the page that changes (`data-live`) by its current state, until it no longer changes. */
async function refresh() {
  const live = document.querySelector("[data-live]");
  if (!live) {
    return;
  }
  await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (response.redirected) {
      location.assign(response.url);
      return;
    }
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const current = page.getElementById(live.id);
    if (response.ok && current) {
      live.replaceWith(current);
      document.querySelector(".balance").replaceWith(page.querySelector(".balance"));
      prepareCopying(current);
      prepareProposal();
      announce(current);
    }
  } catch {
    // The server is away for the moment: ask again.
  }
  refresh();
}

prepareCopying(document);
prepareMarking();
prepareProposal();
preventSecondSubmission();
refresh();
