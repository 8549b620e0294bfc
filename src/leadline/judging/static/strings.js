"use strict";
// The texts of these pages; they stand in templates/strings.json.

const at = id => document.getElementById(id);
const strings = JSON.parse(at("strings").textContent);
const say = (name, values = {}) => strings[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);

// What an answer says, for a text that ends the sentence itself.
const reasonOf = async answer => (await answer.text()).trim().replace(/\.$/, "");
