"""Views of a project that people save under a name: for themselves or, unless they are viewers, for everybody."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from toryo.deeds import LEFT_OUT
from toryo.domain import ids, saved_views
from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import replace
from toryo.domain.saved_views import SavedView, View
from toryo.domain.wording import say
from toryo.operations.calls import permissions, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.callers import Login
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.calls.wire import wire

ViewName = Annotated[str, Field(min_length=1, max_length=60, pattern=r"\S")]


class ShownView(TypedDict):
    """`q` and `by` belong into the address of the view. `count`: how many tasks it shows now: the open ones that match,
    or, if its filter names statuses, those of these (of closed ones only among the 1,000 that were closed last). null:
    it is not about tasks."""

    view_id: str
    project_id: str
    person_id: str
    name: str
    view: Literal["board", "list", "timeline", "graph", "audit"]
    q: str
    by: str | None
    everybody: bool
    may_edit: bool
    count: int | None


class SavedViewsResult(Result):
    views: list[ShownView]


class OneSavedView(Result):
    view: ShownView


class ListSavedViews(Parameters):
    project_id: Id = Field(description="The project.")


@operation(
    "show_saved_views",
    grant=Grant.PERSON,
    parameters=ListSavedViews,
    route=Route("GET", "/projects/{project_id}/views"),
    tool=False,
    reads=True,
)
def show_saved_views(call: Call, wanted: ListSavedViews) -> SavedViewsResult:
    """The saved views of a project that you see: yours, and those for everybody, with how many tasks each shows now."""
    project = call.project(wanted.project_id)
    return {
        "success": True,
        "views": _as_answer(call, project.id, call.tx.saved_views.shown_to(project.id, call.agent.id)),
    }


def _as_answer(call: Call, project_id: str, found: list[SavedView]) -> list[ShownView]:
    filters = {each.id: saved_views.counted_filter(each) for each in found}
    asked = [(view_id, wanted) for view_id, wanted in filters.items() if wanted is not None]
    many = call.tx.saved_views.counts(project_id, [wanted for _, wanted in asked])
    counts = dict(zip((view_id for view_id, _ in asked), many, strict=True))
    return [{**_of_view(each), "may_edit": _may_edit(call, each), "count": counts.get(each.id)} for each in found]


_of_view = wire(SavedView, ShownView, *("may_edit", "count"), view_id="id", by="arranged")


def _may_edit(call: Call, saved: SavedView) -> bool:
    return call.caller.login is not Login.VIEWER if saved.everybody else saved.person_id == call.agent.id


class SaveView(Parameters):
    project_id: Id = Field(description="The project.")
    name: ViewName = Field(description="What it is called.")
    view: Literal["board", "list", "timeline", "graph", "audit"] = Field(description="Which view.")
    q: str = Field("", max_length=1_000, description="What it shows: q of its address.")
    by: str | None = Field(None, min_length=1, max_length=200, description="How it shows it: by of its address.")
    everybody: bool = Field(False, description="Whether everybody who sees the project sees it.")


@operation(
    "save_view",
    grant=Grant.PERSON,
    parameters=SaveView,
    route=Route("POST", "/projects/{project_id}/views", 201),
    tool=False,
)
def save_view(call: Call, wanted: SaveView) -> OneSavedView:
    """Save a view of a project as it is shown, under a name. Only members can save one for everybody."""
    call.enter(wanted.project_id)
    project = call.project(wanted.project_id)
    if wanted.everybody:
        permissions.refuse_viewer(call.caller)
    known = call.tx.saved_views.shown_to(project.id, call.agent.id)
    if sum(each.person_id == call.agent.id for each in known) >= saved_views.MOST:
        raise Refusal(
            Code.LIMIT_REACHED,
            say("You have saved {most} views of this project.", most=saved_views.MOST),
            say("Delete one that you no longer need{deed:: …|.}", deed=LEFT_OUT),
        )
    saved = SavedView(
        id=call.new_id(ids.SAVED_VIEW),
        project_id=project.id,
        person_id=call.agent.id,
        name=wanted.name,
        view=View(wanted.view),
        q=wanted.q,
        arranged=wanted.by,
        everybody=wanted.everybody,
        created_at=call.now,
    )
    _refuse_same_name(known, saved)
    call.tx.saved_views.add(saved)
    _tell(call, "view.saved", saved)
    return {"success": True, "view": _as_answer(call, project.id, [saved])[0]}


def _refuse_same_name(known: list[SavedView], saved: SavedView) -> None:
    """Of those for everybody, and of those of one person, each has a name of its own."""
    for each in known:
        if (each.name.casefold(), each.everybody) == (saved.name.casefold(), saved.everybody) and each.id != saved.id:
            raise Refusal(
                Code.CONFLICT,
                say("A saved view is called {name} already.", name=each.name),
                "Choose another name, or delete the other view first.",
            )


def _tell(call: Call, kind: str, *saved: SavedView) -> None:
    """Everybody's is the project's matter, one's own nobody else's: its name is not told."""
    everybody = next((each for each in saved if each.everybody), None)
    if everybody is not None:
        told = {"view_id": everybody.id, "name": everybody.name}
        call.event(kind, project_id=everybody.project_id, data=told)
    else:
        call.event(kind, agent_id=call.agent.id, data={"view_id": saved[0].id})


class EditSavedView(Parameters):
    view_id: Id = Field(description="The saved view.")
    name: ViewName | None = Field(None, description="What it is called from now on.")
    everybody: bool | None = Field(None, description="Whether everybody sees it. Only who saved it can change this.")


@operation(
    "edit_saved_view",
    grant=Grant.PERSON,
    parameters=EditSavedView,
    route=Route("PATCH", "/views/{view_id}"),
    tool=False,
)
def edit_saved_view(call: Call, wanted: EditSavedView) -> OneSavedView:
    """Rename a saved view, or show it to everybody or only to yourself. What is left out stays."""
    before = _editable(call, wanted.view_id)
    after = replace(
        before,
        name=before.name if wanted.name is None else wanted.name,
        everybody=before.everybody if wanted.everybody is None else wanted.everybody,
    )
    if after.everybody is not before.everybody:
        permissions.refuse_viewer(call.caller)
        if before.person_id != call.agent.id:
            raise Refusal(
                Code.PERMISSION_DENIED,
                "Somebody else saved this view for everybody.",
                "Save a view of your own, or delete this one.",
            )
    _refuse_same_name(call.tx.saved_views.shown_to(before.project_id, call.agent.id), after)
    call.tx.saved_views.save(before, after)
    _tell(call, "view.edited", after, before)
    return {"success": True, "view": _as_answer(call, before.project_id, [after])[0]}


class DeleteSavedView(Parameters):
    view_id: Id = Field(description="The saved view.")


class SavedViewDeleted(Result):
    view_id: str


@operation(
    "delete_saved_view",
    grant=Grant.PERSON,
    parameters=DeleteSavedView,
    route=Route("DELETE", "/views/{view_id}"),
    tool=False,
)
def delete_saved_view(call: Call, wanted: DeleteSavedView) -> SavedViewDeleted:
    """Delete a saved view; what it shows stays as it is."""
    saved = _editable(call, wanted.view_id)
    call.tx.saved_views.drop(saved.id)
    _tell(call, "view.deleted", saved)
    return {"success": True, "view_id": saved.id}


def _editable(call: Call, view_id: str) -> SavedView:
    """The view, with its project entered, if the caller may change it. One of another person is not found."""
    found = call.tx.saved_views.find(view_id)
    if found is not None:
        call.enter(found.project_id)
        found = call.tx.saved_views.find(view_id)
    mine = found is not None and found.person_id == call.agent.id
    if found is None or not visibility.sees(call, found.project_id) or not (found.everybody or mine):
        raise Refusal(
            Code.VALIDATION_ERROR,
            say("There is no saved view {view_id}.", view_id=view_id),
            "List the saved views of the project for their ids: GET /projects/ID/views.",
        )
    if found.everybody:
        permissions.refuse_viewer(call.caller)
    return found
