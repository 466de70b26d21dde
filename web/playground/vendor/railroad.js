// Railroad diagrams, as one module (build.js).
export { default } from "railroad-diagrams";
