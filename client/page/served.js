// An ordinary script, for pages opened from a folder and for old browsers: both start no modules.
/* eslint-disable no-var -- browsers without `let` read this file, too */
"use strict";
(function () {
  var isFile = location.protocol === "file:";
  var isOld = !("noModule" in HTMLScriptElement.prototype);
  if (!isFile && !isOld) return;
  var text = isFile
    ? "Browsers start nothing from a folder. Type `python -m http.server` in this folder, and open http://localhost:8000/."
    : "This browser is too old to run environments: it has no JavaScript modules.";
  document.querySelectorAll("[data-gallery], [data-environment]").forEach(function (element) {
    var told = document.createElement("p");
    told.className = "problem";
    told.setAttribute("role", "alert");
    told.textContent = text;
    element.insertBefore(told, element.firstChild);
  });
})();
