FLASK_APP=app.factory:create_app
