//! The walk: asks the server for one hop more at a time, and draws what the answer samples.
//!
//! Every answer holds the whole walk, so what the table shows was measured in one request.

import { HOPS_MAX, isSameWalk, type WalkAddress } from "../address";
import { Emitter } from "../emitter";
import { count, counted, micros } from "../format";
import type { Session } from "../session";
import type { Hop, Id, Walk, WalkDirection } from "../types";
import { trailOf, type Trail } from "./trail";

/** Relationships of each hop that are drawn at most. */
export const SAMPLE_MAX = 55;

export interface WalkerEvents {
  /** The walk as it is now; the hop that is new, to be lit up. */
  changed: { animate: number | null };
  /** A request is on its way, or no longer. */
  busy: boolean;
}

export class Walker extends Emitter<WalkerEvents> {
  direction: WalkDirection = "out";
  type: string | null = null;
  answer: Walk | null = null;
  trail: Trail | null = null;
  busy = false;
  /** Grows with each change: answers to earlier questions are dropped. */
  private turn = 0;

  constructor(private readonly session: Session) {
    super();
  }

  get hops(): number {
    return this.answer?.hops.length ?? 0;
  }

  /** Why there is no next hop; null when there is one. */
  get end(): string | null {
    if (!this.answer) return null;
    if (!this.answer.complete) return "The time for one walk was up; the hops done are shown.";
    if (this.hops >= HOPS_MAX) return `${HOPS_MAX} hops are the most.`;
    return this.answer.hops.at(-1)?.new_nodes === 0 ? "The last hop reached no new node: the walk is at its end." : null;
  }

  /** From where the next hop starts: of a walk that is on, its start. */
  get from(): Id | null {
    return this.answer?.start ?? this.session.selection?.id ?? this.session.roots[0]?.id ?? null;
  }

  /** Walks one hop further. */
  async next(): Promise<void> {
    const from = this.from;
    if (this.busy || from === null) return;
    if (this.end !== null) {
      this.session.say(this.end);
      return;
    }
    this.session.takeOver();
    if (await this.ask(from, this.hops + 1, true)) this.session.pushAddress();
  }

  /** Other relationships to follow: a walk that is on starts anew. */
  choose(direction: WalkDirection, type: string | null): void {
    this.direction = direction;
    this.type = type;
    this.reset();
  }

  /** Ends the walk; what it drew stays. */
  reset(): void {
    this.session.takeOver();
    const had = this.answer !== null;
    this.forget();
    if (!had) return;
    this.session.say("Walk ended.");
    this.session.pushAddress();
  }

  /** The same without a word. */
  forget(): void {
    this.turn += 1;
    this.answer = null;
    this.trail = null;
    this.setBusy(false);
    this.emit("changed", { animate: null });
  }

  address(): WalkAddress | null {
    if (!this.answer || this.hops === 0) return null;
    return { from: this.answer.start, direction: this.direction, type: this.type, hops: this.hops };
  }

  /** Brings the walk to that of an address; `restoring` gives it up. */
  async restore(address: WalkAddress | null, restoring: AbortSignal): Promise<void> {
    if (isSameWalk(address, this.address())) return;
    this.forget();
    if (!address) return;
    this.direction = address.direction;
    this.type = address.type;
    await this.ask(address.from, address.hops, false, restoring);
  }

  private async ask(from: Id, hops: number, aloud: boolean, signal?: AbortSignal): Promise<boolean> {
    const turn = (this.turn += 1);
    const { direction, type } = this;
    this.setBusy(true);
    try {
      const query = { hops, direction, type, sample: SAMPLE_MAX };
      const answer = await this.session.api.get<Walk>(`/nodes/${from}/walk`, query, signal);
      if (turn !== this.turn || signal?.aborted) return false;
      this.take(answer, direction);
      if (aloud) this.sayHop(answer);
      return true;
    } catch (error) {
      if (turn === this.turn) this.session.fail(error);
      return false;
    } finally {
      if (turn === this.turn) this.setBusy(false);
    }
  }

  private take(answer: Walk, direction: WalkDirection): void {
    this.answer = answer;
    this.trail = trailOf(answer, direction);
    this.drawSamples(answer, this.trail);
    this.emit("changed", { animate: answer.hops.length });
    this.session.emit("graph", 0.45);
  }

  /** Draws hop by hop, each node near the one it was reached from. */
  private drawSamples(answer: Walk, trail: Trail): void {
    const summaries = new Map(answer.nodes.map((node) => [node.id, node]));
    for (const steps of trail.hops) {
      const groups = new Map<Id, typeof steps>();
      for (const step of steps) groups.set(step.from, [...(groups.get(step.from) ?? []), step]);
      for (const [from, group] of groups) {
        const ids = [from, ...group.map((step) => step.to)];
        const nodes = ids.flatMap((id) => summaries.get(id) ?? []);
        this.session.draw(nodes, group.map((step) => step.relationship), from);
      }
    }
  }

  private sayHop(answer: Walk): void {
    const hop = answer.hops.at(-1);
    if (!hop) return;
    this.session.say(`Hop ${answer.hops.length}: ${hopText(hop)}`);
    if (this.end !== null) this.session.say(this.end);
  }

  private setBusy(busy: boolean): void {
    if (this.busy === busy) return;
    this.busy = busy;
    this.emit("busy", busy);
  }
}

/** A hop in words. */
export function hopText(hop: Hop): string {
  const reached = `${counted(hop.relationships, "relationship")}, ${counted(hop.nodes, "node")}`;
  return `${reached}, ${count(hop.new_nodes)} new, ${micros(hop.micros)}, ${counted(hop.pages_read, "page")} read.`;
}
