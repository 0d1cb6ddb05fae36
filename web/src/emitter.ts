//! Typed events between the session and the views. Listeners are called in order, at once.

export class Emitter<Events> {
  private readonly listeners = new Map<keyof Events, ((value: never) => void)[]>();

  /** Calls `listener` with the value of each later event of this name. */
  on<Name extends keyof Events>(name: Name, listener: (value: Events[Name]) => void): void {
    const list = this.listeners.get(name) ?? [];
    list.push(listener as (value: never) => void);
    this.listeners.set(name, list);
  }

  emit<Name extends keyof Events>(name: Name, value: Events[Name]): void {
    for (const listener of this.listeners.get(name) ?? []) {
      (listener as (value: Events[Name]) => void)(value);
    }
  }
}
