//! Values as text, captions, and whole floats that must not lose their form.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Value } from "../../src/types";
import { caption, cutText, parseAnswer, showValue } from "../../src/values";

test("plain values have their text and type", () => {
  const cases: [Value, string, string][] = [
    [null, "null", "Null"],
    [true, "true", "Boolean"],
    [7, "7", "Integer"],
    [1.5, "1.5", "Float"],
    ["a\nb", "a\nb", "String"],
    [["a", 1, null], '["a", 1, null]', "List"],
  ];
  for (const [value, text, type] of cases) assert.deepEqual(showValue(value), { text, type });
});

test("typed values are shown by their own text", () => {
  assert.deepEqual(showValue({ $type: "Integer", _value: "9223372036854775807" }), { text: "9223372036854775807", type: "Integer" });
  const map: Value = { $type: "Map", _value: { when: { $type: "Date", _value: "2026-01-02" }, list: [1, "x"] } };
  assert.deepEqual(showValue(map), { text: '{when: 2026-01-02, list: [1, "x"]}', type: "Map" });
});

test("a caption is a telling property, a short text, or the id", () => {
  assert.equal(caption({ id: "1", properties: { code: "x", Name: "Ada" } }), "Ada");
  assert.equal(caption({ id: "1", properties: { note: "short", age: 3 } }), "short");
  assert.equal(caption({ id: "1", properties: { note: "n".repeat(50) } }), "#1");
  assert.equal(caption({ id: "1", properties: { name: "  ", title: "a\n b" } }), "a b");
});

test("cutting keeps whole characters", () => {
  assert.equal(cutText("abcdef", 6), "abcdef");
  assert.equal(cutText("abcdefg", 6), "abcde…");
  assert.equal(cutText("😀😀😀", 2), "😀…");
});

test("numbers of answers stay what they are where the browser does not tell how they were written", () => {
  const answer = parseAnswer('{"a": 1, "micros": 12.0, "b": 1.5, "list": [2]}') as Record<string, unknown>;
  assert.equal(answer["a"], 1);
  assert.equal(answer["micros"], 12);
  assert.equal(answer["b"], 1.5);
  assert.deepEqual(answer["list"], [2]);
});
